/** The completion scripts of the shells; each asks `lockstep __complete WORD...` for the candidates of the last word. */

/** bash breaks words at "=" and ":", which options and names may contain: what stands before the last break is not repeated. */
const bash = `# bash completion for lockstep; for this shell: source <(lockstep completion bash)
_lockstep() {
  local words=() line cut current
  # The words as they were typed, not as COMP_WORDBREAKS cuts them.
  read -r -a words <<< "\${COMP_LINE:0:COMP_POINT}"
  case "\${COMP_LINE:0:COMP_POINT}" in *[[:space:]]) words+=("") ;; esac
  current="\${words[\${#words[@]}-1]}"
  cut="\${current%"\${current##*[=:]}"}"
  COMPREPLY=()
  while IFS= read -r line; do
    line="\${line%%$'\\t'*}"
    case "$line" in
      :files) compopt -o default 2> /dev/null; return ;;
    esac
    [ -n "$line" ] && COMPREPLY+=("\${line#"$cut"}")
  done < <("\${words[0]}" __complete "\${words[@]:1}" 2> /dev/null)
}
complete -F _lockstep lockstep ./lockstep
`

const zsh = `#compdef lockstep
# zsh completion for lockstep; save as _lockstep in a folder of $fpath, or: source <(lockstep completion zsh)
_lockstep() {
  local line
  local -a found shown
  for line in "\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    [[ "$line" == :files ]] && { _files; return }
    [[ -z "$line" ]] && continue
    found+=("\${line%%$'\\t'*}")
    [[ "$line" == *$'\\t'* ]] && shown+=("\${line%%$'\\t'*}  -- \${line#*$'\\t'}") || shown+=("$line")
  done
  (( \${#found} )) && compadd -l -d shown -a found
}
if [[ "\${funcstack[1]}" == _lockstep ]]; then _lockstep "$@"; else compdef _lockstep lockstep; fi
`

const fish = `# fish completion for lockstep; save as ~/.config/fish/completions/lockstep.fish
function __lockstep_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] __complete $words[2..-1] 2> /dev/null)
    if test "$found[1]" = :files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c lockstep -f -a '(__lockstep_complete)'
`

/** Scripts by the name of the shell. */
export const COMPLETION_SCRIPTS: Readonly<Record<string, string>> = { bash, zsh, fish }
