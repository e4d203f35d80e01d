/** Requests to the node that served the page, with the login of whoever sits before it. Used by everything that asks or changes something. */
import { batch, signal } from '@preact/signals'

/** A refusal of the node, or that it did not answer (status 0). */
export class ApiError extends Error {
  readonly status: number
  readonly code: number
  readonly hint: string | undefined

  constructor(status: number, body: { readonly error_code?: number; readonly message?: string | null; hint?: string }) {
    super(body.message ?? `the node answered ${status}`)
    this.name = 'ApiError'
    this.status = status
    this.code = body.error_code ?? status
    this.hint = body.hint
  }
}

/** What an error says to a person. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const STORED_LOGIN = 'lockstep-login'

/** The header that names the user; undefined = none is needed, or known. Kept for this tab only. */
const authorization = signal<string | undefined>(sessionStorage.getItem(STORED_LOGIN) ?? undefined)
/** The node wants a login; the text says why. */
export const loginWanted = signal<string | undefined>(undefined)
/** Counts logins: whoever depends on one begins anew. */
export const loginCount = signal(0)
export const isLoggedIn = (): boolean => authorization.value !== undefined

export function logIn(user: string, password: string): void {
  const bytes = new TextEncoder().encode(`${user}:${password}`)
  const header = `Basic ${btoa(String.fromCharCode(...bytes))}`
  sessionStorage.setItem(STORED_LOGIN, header)
  batch(() => {
    authorization.value = header
    loginWanted.value = undefined
    loginCount.value++
  })
}

/** Whoever needs no login here goes on without one. */
export function logOut(): void {
  batch(() => {
    forgetLogin()
    loginCount.value++
  })
}

function forgetLogin(): void {
  sessionStorage.removeItem(STORED_LOGIN)
  authorization.value = undefined
}

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer, whatever its kind. Throws ApiError; asks for a login where the node wants one. */
export async function request(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  const url = new URL(path.replace(/^\//, ''), document.baseURI)
  url.hash = ''
  for (const [name, value] of Object.entries(options.query ?? {}))
    if (value !== undefined) url.searchParams.set(name, value)
  const init: RequestInit = {
    method,
    cache: 'no-store',
    headers: {
      'x-lockstep-page': '1',
      ...(authorization.peek() === undefined ? {} : { authorization: authorization.peek() ?? '' }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal ? { signal: options.signal } : {}),
  }
  const response = await fetch(url, init).catch(error => {
    if (options.signal?.aborted) throw error
    throw new ApiError(0, { message: 'The node does not answer.', hint: 'It is tried again.' })
  })
  if (response.ok) return response
  const body = await response.json().catch(() => ({}))
  const problem = new ApiError(response.status, body)
  if (response.status === 401)
    batch(() => {
      // A wrong login is not shown again and again: the node would take it for guessing.
      loginWanted.value = authorization.peek() === undefined ? (loginWanted.peek() ?? '') : problem.message
      forgetLogin()
    })
  throw problem
}

/** The parsed answer; undefined where it is empty. */
export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const text = await (await request(method, path, options)).text()
  return (text === '' ? undefined : JSON.parse(text)) as T
}
