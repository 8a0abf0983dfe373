#compdef influencer-sync
# Completion of influencer-sync for zsh.
_influencer_sync() {
  local -a found
  found=("${(@f)$("${words[1]}" complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(${found:#})
  if (( ${#found} )); then compadd -- "${found[@]}"; else _files; fi
}
if [ "$funcstack[1]" = "_influencer-sync" ]; then _influencer_sync; else compdef _influencer_sync influencer-sync; fi
