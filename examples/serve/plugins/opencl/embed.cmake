# Makes a C file of the kernels: cmake -DOUTPUT=... -DFILE=... -P embed.cmake

file(READ ${FILE} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE ${OUTPUT} "#include \"program.h\"\n\nconst char device_source[] = {${bytes} 0};\n")
