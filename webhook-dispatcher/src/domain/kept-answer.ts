const keptBytesMax = 4_096

/** Our signing secrets and API keys; what Stripe and others give out looks the same. */
const secrets = /\b(whsec|[a-z]k_live|[a-z]k_test|[a-z]k_sandbox|sp_sandbox)_[0-9A-Za-z]{8,}/g

/**
 * Of what a receiver answered, the beginning that is kept beside the attempt, for whoever may look at the log: without
 * secrets that it printed, as pages for debugging do, and without what only a program could read.
 */
export function keptAnswer(body: Buffer, contentEncoding: string | undefined): string {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    return `(packed with ${contentEncoding.slice(0, 40)}, which was not asked for)`
  }
  // Taken out before the text is cut, so that none is cut in two. PostgreSQL keeps no NUL in a text.
  const text = body.toString('utf8').replaceAll(secrets, '$1_(removed)').replaceAll('\0', '\uFFFD')
  return Buffer.from(text).subarray(0, keptBytesMax).toString('utf8')
}
