/** The commands that the demo offers for pasting into another terminal. Pure; called by the live demos. */
import { basename } from 'node:path'

export interface CommandPlaces {
  /** REST of the node that mirrors. */
  readonly url: string
  /** Kafka address of the node that mirrors. */
  readonly kafka: string
  readonly link: string
  readonly topic: string
  /** The script that runs: a clone has a launcher beside it, an installed package a binary. */
  readonly entry: string
  /** The source, where the demo started it. */
  readonly source?: { readonly name: string; readonly pid: number }
}

/** Lines, each a comment or a command. */
export function readyCommands(places: CommandPlaces): string[] {
  const { url, kafka, link, topic, source } = places
  const cli = `${basename(places.entry).endsWith('.ts') ? './lockstep' : 'lockstep'} --url ${url}`
  const name = shellWord(topic)
  return [
    `# in a browser: ${url}/ shows all this live, and has every action`,
    '# what the mirror does, and what is in it',
    `${cli} mirror list`,
    `${cli} mirror describe ${name} --link ${link}`,
    `kcat -b ${kafka} -C -t ${name} -e`,
    ...(source === undefined
      ? ['# stop mirroring and make the copy writable']
      : [
          '# a mirror is read-only: this is refused',
          `echo hello | kcat -b ${kafka} -P -t ${name}`,
          `# lose ${source.name}, then make the mirror writable`,
          `kill -9 ${source.pid}`,
        ]),
    `${cli} mirror failover ${name} --link ${link} --force --wait`,
    `echo hello | kcat -b ${kafka} -P -t ${name}`,
  ]
}

const shellWord = (text: string) => (/^[A-Za-z0-9._-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
