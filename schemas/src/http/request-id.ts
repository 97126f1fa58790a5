/** Clients may name their requests; every response has the name, and so has the body of every error. */
export const requestIdHeader = 'x-request-id'

export const requestIdPattern = /^[A-Za-z0-9._:~+/=@-]{1,128}$/

/** Whether a client's name of its request is used: short, and of characters that are safe in logs, headers and JSON. */
export function isRequestId(text: string): boolean {
  return requestIdPattern.test(text)
}
