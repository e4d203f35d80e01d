/** The fenced blocks of our documents; the check of documents and the suite that runs their commands read them. */
import { globSync, readFileSync } from 'node:fs'

export interface Block {
  readonly file: string
  /** Of the line with the fence, from 1. */
  readonly line: number
  readonly language: string
  /** Behind the language: `not-run`, `runbook` and `package` (the suites of runbooks and of the package run it), `background` (a node that keeps running), `fails` (its last command is refused). */
  readonly flags: readonly string[]
  readonly text: string
}

export const documents = (): string[] => ['README.md', 'ARCHITECTURE.md', ...globSync('docs/*.md').sort()]

export function blocksOf(file: string): Block[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  const blocks: Block[] = []
  let open: { readonly at: number; readonly fence: string } | undefined
  for (const [index, line] of lines.entries()) {
    if (!/^\s*```/.test(line)) continue
    if (open === undefined) {
      open = { at: index, fence: line.trim().slice(3) }
      continue
    }
    const [language = '', ...flags] = open.fence.split(' ')
    blocks.push({ file, line: open.at + 1, language, flags, text: lines.slice(open.at + 1, index).join('\n') })
    open = undefined
  }
  return blocks
}

/** What stands outside of blocks. */
export const proseOf = (file: string): string => readFileSync(file, 'utf8').replace(/^\s*```[\s\S]*?^\s*```/gm, '')
