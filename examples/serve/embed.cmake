# Makes a C file of the page's files:
#     cmake -DOUTPUT=... -DFOLDER=... "-DFILES=index.html;..." -P embed.cmake
#
# index.html answers the path /, any other file /page/<file>.

set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")

set(text "#include \"page_files.h\"\n")
set(rows "")
set(count 0)
foreach(file IN LISTS FILES)
    string(REGEX REPLACE ".*[.]" "" ending "${file}")
    set(path "/page/${file}")
    if(file STREQUAL "index.html")
        set(path "/")
    endif()
    file(READ ${FOLDER}/${file} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(APPEND text "static const unsigned char file_${count}[] = {${bytes} 0};\n")
    string(APPEND rows
        "    {\"${path}\", \"${type_${ending}}\", file_${count}, sizeof file_${count} - 1},\n")
    math(EXPR count "${count} + 1")
endforeach()
string(APPEND text "const serve_page_file serve_page_files[] = {\n${rows}    {0, 0, 0, 0},\n};\n")
string(APPEND text "const size_t serve_page_file_count = ${count};\n")
file(WRITE ${OUTPUT} "${text}")
