# Completion of influencer-sync for fish. It offers files only where nothing else fits.
function __influencer_sync
  set -l words (commandline -opc) (commandline -ct)
  $words[1] complete-words -- $words[2..] 2>/dev/null
end
complete -c influencer-sync -n 'count (__influencer_sync) >/dev/null' -f -a '(__influencer_sync)'
