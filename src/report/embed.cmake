# Writes a text file as a string literal of C++: cmake -D INPUT=page.js -D OUTPUT=page_js.inc -P embed.cmake
file(READ ${INPUT} text)
string(LENGTH "${text}" length)
if(text MATCHES "\\)heddle_page\"")
  message(FATAL_ERROR "${INPUT} contains the end of the literal")
endif()
file(WRITE ${OUTPUT} "R\"heddle_page(")
file(APPEND ${OUTPUT} "${text}")
file(APPEND ${OUTPUT} ")heddle_page\"\n")
