import { AwayError, RefusedError } from './errors.ts'

/** Sends requests to Tollgate, each with a timeout. */
export type TollgateApi = {
  /**
   * Sends one POST request and returns the parsed response. Throws an AwayError if no response arrives in time or the server is
   * unavailable, and a RefusedError for any other failure.
   */
  post(path: string, body: object, timeoutMs: number): Promise<unknown>
}

export function createTollgateApi(baseUrl: string, secretKey: string): TollgateApi {
  const base = baseUrl.replace(/\/+$/, '')
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' }
  return {
    async post(path, body, timeoutMs) {
      const request = {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        redirect: 'error' as const,
        signal: AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs))),
      }
      let status: number
      let text: string
      try {
        const response = await fetch(`${base}${path}`, request)
        status = response.status
        text = await response.text()
      } catch (cause) {
        throw new AwayError(`Tollgate did not answer ${path}.`, false, { cause })
      }
      if (status >= 500 || status === 429 || status === 408) {
        throw new AwayError(`Tollgate answered ${path} with ${status}.`, true)
      }
      const parsed = parse(text)
      if (status < 200 || status > 299) throw new RefusedError(path, status, parsed)
      if (parsed === undefined) throw new AwayError(`Tollgate answered ${path} with no JSON.`, true)
      return parsed
    },
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
