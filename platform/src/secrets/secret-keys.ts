/** An encryption key, and the id under which sealed secrets refer to it. */
export type SecretKey = {
  readonly id: string
  /** The key: 32 bytes. */
  readonly bytes: Buffer
}

/** All keys. The first one seals, every one opens. */
export type SecretKeys = readonly [newest: SecretKey, ...older: SecretKey[]]

export const secretKeyBytes = 32

/**
 * Parses `id:base64` entries, separated by commas or spaces, the newest first. Returns undefined for empty text. Throws an error
 * that does not repeat the text.
 */
export function parseSecretKeys(text: string): SecretKeys | undefined {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '')
  const [newest, ...older] = entries.map(parseKey)
  if (newest === undefined) return undefined
  const keys: SecretKeys = [newest, ...older]
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw malformed('two keys share an id')
  return keys
}

export function formatSecretKey({ id, bytes }: SecretKey): string {
  return `${id}:${bytes.toString('base64')}`
}

function parseKey(entry: string): SecretKey {
  const [, id, base64] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]+=*)$/.exec(entry) ?? []
  if (id === undefined || base64 === undefined) throw malformed('an entry is not id:base64')
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length !== secretKeyBytes) {
    throw malformed(`the key ${id} does not have ${secretKeyBytes} bytes`)
  }
  return { id, bytes }
}

function malformed(what: string): Error {
  return new Error(`expected id:base64 of ${secretKeyBytes} bytes, with commas: ${what}`)
}
