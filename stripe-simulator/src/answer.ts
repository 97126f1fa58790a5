/** What a request is answered with, once what it changed is kept. */
export type Answer = { readonly status: number; readonly body: object }

export function ok(body: object): Answer {
  return { status: 200, body }
}
