import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SealedColumn } from '@tollgate/schemas/sealed-columns'
import { SecretUnreadableError } from './secret-errors.ts'
import type { SecretKey, SecretKeys } from './secret-keys.ts'

/**
 * The column and owner that a secret is bound to. Only listed columns are allowed, so that a rotation of keys covers all of them. A
 * sealed secret does not open in another place, so it cannot be moved.
 */
export type SecretPlace = Pick<SealedColumn, 'table' | 'column'> & {
  /** Reference of the owner, such as the provider id. */
  readonly owner: string
}

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const version = 'v1'

/**
 * Encrypts texts with AES-256-GCM. A sealed text is `v1.<key id>.<base64url of nonce, ciphertext and tag>`. The nonce is random, so
 * one key may seal up to 2^32 secrets.
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

  /** Decrypts a secret. Throws a SecretUnreadableError if it was altered, moved, or sealed with a key that is not configured. */
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

  /** Returns whether the secret was sealed with the newest key. */
  isCurrent(sealed: string): boolean {
    return parse(sealed).keyId === this.#keys[0].id
  }

  /** Returns the secret sealed with the newest key. */
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

/** Returns the additional authenticated data. JSON separates the parts unambiguously. */
function boundTo(keyId: string, { table, column, owner }: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([version, keyId, table, column, owner]))
}
