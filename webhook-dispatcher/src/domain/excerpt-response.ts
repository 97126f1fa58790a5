const keptBytesMax = 4_096

/** Signing secrets and API keys of Tollgate. Keys of Stripe and of other services have the same form. */
const secrets = /\b(whsec|[a-z]k_live|[a-z]k_test|[a-z]k_sandbox|sp_sandbox)_[0-9A-Za-z]{8,}/g

/**
 * Returns the beginning of a response body, at most 4 KiB, to store with the attempt. Providers can read it in the delivery log, so
 * secrets that a debug page printed are removed, and compressed bodies are replaced by a note.
 */
export function excerptResponse(body: Buffer, contentEncoding: string | undefined): string {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    return `(packed with ${contentEncoding.slice(0, 40)}, which was not asked for)`
  }
  // Secrets are removed before the text is cut, so that no part of one remains at the cut. PostgreSQL cannot store NUL in text.
  const text = body.toString('utf8').replaceAll(secrets, '$1_(removed)').replaceAll('\0', '\uFFFD')
  return Buffer.from(text).subarray(0, keptBytesMax).toString('utf8')
}
