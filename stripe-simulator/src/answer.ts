/** Answer to a request, sent after its changes are stored. */
export type Answer = { readonly status: number; readonly body: object }

export function ok(body: object): Answer {
  return { status: 200, body }
}
