/** Has the control plane answer a limit check; resolves with its whole answer, whatever the status. */
export type CallControlPlane = (
  path: string,
  authorization: string,
  body: string,
  requestId?: string,
) => Promise<{ readonly status: number; readonly body: string }>
