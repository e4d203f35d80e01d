// The status of a request with headers that fetch does not let a caller choose, and without its body; used by the suites of the contract.
import { request } from 'node:http'

export const bareStatus = (
  url: string,
  options: { readonly method: string; readonly headers: Readonly<Record<string, string>> },
): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { ...options, headers: { ...options.headers } }, answer => {
      answer.resume()
      resolve(answer.statusCode)
      asked.destroy()
    })
    asked.on('error', reject)
    if (options.headers['content-length'] === undefined) asked.end()
    else asked.flushHeaders()
  })
