/** `lockstep user hash`: a line for the file of `rest.users`, with the password turned into a hash. Asks no node. */
import type { Command } from 'commander'
import { hashPassword } from '../../../core/password-hash.ts'
import type { CliEnvironment } from '../../context.ts'
import { UsageError } from '../../usage-error.ts'

export function addUserHash(user: Command, { terminal }: CliEnvironment): void {
  user
    .command('hash <user>')
    .description('print the line of a user for the file of rest.users; the password is read from standard input')
    .action(async (name: string) => {
      if (/[:\s#]/.test(name)) throw new UsageError('a user name has no colon, no # and no blanks')
      const password = await terminal.ask('Password: ')
      if (password === '') throw new UsageError('the password is empty')
      terminal.out(`${name}: ${await hashPassword(password)}\n`)
    })
}
