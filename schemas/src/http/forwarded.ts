/**
 * Header that ingest adds for the control plane if a peer that is no trusted proxy sent an `X-Forwarded-*` header. The client
 * may still be behind a proxy that nobody configured, such as a tunnel to a machine of a developer.
 */
export const forwardedIgnoredHeader = 'x-forwarded-ignored'
