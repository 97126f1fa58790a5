/** Clients may send a request id. Every response has the id in this header, and the body of every error contains it. */
export const requestIdHeader = 'x-request-id'

export const requestIdPattern = /^[A-Za-z0-9._:~+/=@-]{1,128}$/

/**
 * Returns whether a client's request id is used: it must be short and consist of characters that are safe in logs, headers and
 * JSON.
 */
export function isRequestId(text: string): boolean {
  return requestIdPattern.test(text)
}
