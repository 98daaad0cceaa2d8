# shellcheck shell=bash
# To be sourced: reads a report without needing more than sed and awk.

# field FILE NAME [GROUP]: the value of a number or flag in a report, or of one in a group; null where it is not there
field() {
  local value
  value=$(tr ',{}' '[\n*]' <"$1" | sed -n '/"'"${3:-}"'/,$s/^[[:space:]]*"'"$2"'"[[:space:]]*:[[:space:]]*//p' |
    sed -n '1s/[[:space:]"]*$//p')
  echo "${value:-null}"
}

# holds EXPRESSION: true where an awk expression of numbers is true; any word in it, such as null or NaN, makes it false
holds() {
  [[ ! $1 =~ [A-Za-df-z]|^e|[^0-9.]e ]] && awk "BEGIN { exit !($1) }"
}
