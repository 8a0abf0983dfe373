# Completion of influencer-sync for bash.
_influencer_sync() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _influencer_sync influencer-sync
