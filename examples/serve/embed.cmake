# Makes a C file of the page's files: cmake -DOUTPUT=... -DFOLDER=... -P embed.cmake
#
# Files that are not there are left out; the server then answers 404 for them.

set(text "#include \"page_files.h\"\n")
set(rows "")
set(count 0)
foreach(entry IN ITEMS "/|index.html|text/html; charset=utf-8" "/style.css|style.css|text/css"
        "/app.js|app.js|text/javascript")
    string(REGEX MATCH "^([^|]+)[|]([^|]+)[|](.*)$" matched "${entry}")
    set(path ${CMAKE_MATCH_1})
    set(file ${FOLDER}/${CMAKE_MATCH_2})
    set(type "${CMAKE_MATCH_3}")
    if(NOT EXISTS ${file})
        continue()
    endif()
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(APPEND text "static const unsigned char file_${count}[] = {${bytes} 0};\n")
    string(APPEND rows "    {\"${path}\", \"${type}\", file_${count}, sizeof file_${count} - 1},\n")
    math(EXPR count "${count} + 1")
endforeach()
string(APPEND text "const serve_page_file serve_page_files[] = {\n${rows}    {0, 0, 0, 0},\n};\n")
string(APPEND text "const size_t serve_page_file_count = ${count};\n")
file(WRITE ${OUTPUT} "${text}")
