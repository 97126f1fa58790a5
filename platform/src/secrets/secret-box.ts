import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SealedColumn } from '@tollgate/schemas/sealed-columns'
import { SecretUnreadableError } from './secret-errors.ts'
import type { SecretKey, SecretKeys } from './secret-keys.ts'

/**
 * Where a secret belongs: in one of the columns that are listed, so that none is forgotten when the keys change. One that
 * was sealed for another place does not open: nobody can move it there.
 */
export type SecretPlace = Pick<SealedColumn, 'table' | 'column'> & {
  /** Whose it is. */
  readonly owner: string
}

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const version = 'v1'

/**
 * Seals texts with AES-256-GCM. A sealed text is `v1.<id of the key>.<base64url of nonce, ciphertext and tag>`. The nonce
 * is random: up to 2^32 secrets may be sealed with one key.
 */
export class SecretBox {
  readonly #keys: SecretKeys

  constructor(keys: SecretKeys) {
    this.#keys = keys
  }

  seal(secret: string, place: SecretPlace): string {
    const [{ id, bytes }] = this.#keys
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, bytes, nonce).setAAD(boundTo(id, place))
    const sealed = [nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]
    return `${version}.${id}.${Buffer.concat(sealed).toString('base64url')}`
  }

  /** Throws a SecretUnreadableError for what was altered, moved, or sealed with a key that is not there any more. */
  open(sealed: string, place: SecretPlace): string {
    const { keyId, bytes } = parse(sealed)
    const key = this.#keys.find(({ id }) => id === keyId)
    if (key === undefined) throw new SecretUnreadableError(`there is no key ${keyId}`)
    try {
      return decrypt(key, bytes, place)
    } catch {
      throw new SecretUnreadableError('it was altered, or belongs elsewhere')
    }
  }

  /** Whether the newest key sealed it. */
  isCurrent(sealed: string): boolean {
    return parse(sealed).keyId === this.#keys[0].id
  }

  /** The same secret under the newest key. */
  reseal(sealed: string, place: SecretPlace): string {
    return this.seal(this.open(sealed, place), place)
  }
}

function decrypt({ id, bytes: key }: SecretKey, bytes: Buffer, place: SecretPlace): string {
  const nonce = bytes.subarray(0, nonceBytes)
  const tag = bytes.subarray(-tagBytes)
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(boundTo(id, place)).setAuthTag(tag)
  const opened = [decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]
  return Buffer.concat(opened).toString('utf8')
}

function parse(sealed: string): { readonly keyId: string; readonly bytes: Buffer } {
  const [given, keyId, text, ...rest] = sealed.split('.')
  if (given !== version || keyId === undefined || text === undefined || rest.length > 0) {
    throw new SecretUnreadableError('it is not a sealed secret')
  }
  return { keyId, bytes: Buffer.from(text, 'base64url') }
}

/** JSON keeps the parts apart, whatever is in them. */
function boundTo(keyId: string, { table, column, owner }: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([version, keyId, table, column, owner]))
}
