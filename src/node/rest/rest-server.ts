/** Starts REST: TLS, logins and access around the application; called by the composition root. */
import { Server as TlsServer } from 'node:tls'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Authorizer } from '../../metadata/authorizer.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { type ListenerSecurity, openListener } from '../../network/listener-security.ts'
import type { RestContext } from '../../rest/context.ts'
import { buildRestApplication } from '../../rest/server.ts'
import { audited } from '../audited-authorizer.ts'
import { ListenersSecurity } from '../security/listeners-security.ts'
import type { Startup } from '../startup.ts'
import { readPageFiles } from './page-files.ts'
import { Passwords } from './passwords.ts'
import { restAccess } from './rest-access.ts'
import { RestLogin } from './rest-login.ts'
import type { RestSettings } from './rest-settings.ts'
import { UsersFile } from './users-file.ts'

export interface RestServerOptions {
  readonly settings: RestSettings
  readonly application: Omit<RestContext, 'login' | 'access' | 'logger' | 'page'>
  readonly controller: Controller
  readonly authorizer: Authorizer
  readonly nodeId: number
  /** The server's properties file. */
  readonly file: ReadonlyMap<string, string>
  readonly tlsReloadMs: number
  readonly clock: Clock
  readonly logger: Logger
}

/** Listens; resolves to the URL. */
export async function startRest(options: RestServerOptions, startup: Startup): Promise<string> {
  const { settings, controller, authorizer, clock } = options
  const { endpoint, usersFile } = settings
  const logger = options.logger.child({ component: 'rest' })
  const listeners = new ListenersSecurity({ ...options, reloadMs: options.tlsReloadMs, logger })
  let security: ListenerSecurity = openListener
  if (endpoint.protocol === 'SSL') {
    security = await listeners.load(endpoint)
    startup.onStop('keys of REST', () => listeners.close())
    await controller.subscribe(listeners)
  }
  const file = usersFile === undefined ? undefined : await UsersFile.open(usersFile, { clock, logger })
  const passwords = new Passwords({ file, image: () => controller.image })
  const login = new RestLogin({ ...settings, passwords, security: () => security, clock, logger })
  const access = restAccess(controller, audited(authorizer, options.logger))
  const page = await readPageFiles()
  const rest = await buildRestApplication(
    { ...options.application, login, access, page, logger },
    security.tls?.options,
  )
  startup.onStop('REST', () => rest.close())
  const url = await rest.listen({ host: endpoint.host, port: endpoint.port })
  const { server } = rest
  if (server instanceof TlsServer)
    listeners.watch(endpoint, {
      changeSecurity(changed) {
        security = changed
        if (changed.tls) server.setSecureContext(changed.tls.options)
      },
    })
  return url
}
