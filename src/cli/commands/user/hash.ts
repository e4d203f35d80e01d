/** `lockstep user hash`: a line for the file of `rest.users`, with the password turned into a hash. Asks no node. */
import { hashPassword } from '../../../core/password-hash.ts'
import type { CommandAction } from '../../command-row.ts'
import { UsageError } from '../../usage-error.ts'

export const hashUser: CommandAction = async ({ terminal }, [name = '']) => {
  if (/[:\s#]/.test(name)) throw new UsageError('a user name has no colon, no # and no blanks')
  const password = await terminal.ask('Password: ')
  if (password === '') throw new UsageError('the password is empty')
  terminal.out(`${name}: ${await hashPassword(password)}\n`)
}
