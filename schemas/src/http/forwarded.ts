/**
 * Header that ingest adds for the control plane if an untrusted peer sent an `X-Forwarded-*` header. The client may still be behind
 * a proxy that is not configured, such as a tunnel to a developer's machine.
 */
export const forwardedIgnoredHeader = 'x-forwarded-ignored'
