import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/**
 * Parameters of a password hash: scrypt's numbers and the salt. They are stored with every hash, so that they can be
 * raised for later hashes.
 */
export type HashParameters = {
  /** log2 of N. Adding 1 doubles time and memory. 15 takes 32 MiB. */
  readonly cost: number
  readonly blockSize: number
  readonly parallelization: number
  readonly salt: Buffer
}

const saltBytes = 16
const keyBytes = 32

/**
 * Returns parameters with a new salt. With a cost of 15, they are among the settings that OWASP recommends as equally
 * strong.
 */
export function newHashParameters(cost: number): HashParameters {
  return { cost, blockSize: 8, parallelization: 3, salt: randomBytes(saltBytes) }
}

/** Returns `scrypt$<cost>$<block size>$<parallelization>$<salt>$<key>`, with the salt and the key in base64url. */
export async function hashPassword(password: string, parameters: HashParameters): Promise<string> {
  const { cost, blockSize, parallelization, salt } = parameters
  const key = await derive(password, parameters)
  const texts = [salt, key].map((bytes) => bytes.toString('base64url'))
  return ['scrypt', cost, blockSize, parallelization, ...texts].join('$')
}

/** Returns the parameters of a stored hash. */
export function parametersOf(hash: string): HashParameters {
  const [scheme, cost, blockSize, parallelization, salt] = hash.split('$')
  if (scheme !== 'scrypt' || salt === undefined) throw new Error('the text is not a password hash')
  return {
    cost: Number(cost),
    blockSize: Number(blockSize),
    parallelization: Number(parallelization),
    salt: Buffer.from(salt, 'base64url'),
  }
}

/** Compares two hashes. The time does not depend on where they differ. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function derive(password: string, parameters: HashParameters): Promise<Buffer> {
  const { cost, blockSize: r, parallelization: p, salt } = parameters
  const N = 2 ** cost
  // Memory that scrypt needs for these parameters, plus 1 MiB.
  const maxmem = 128 * r * (N + p) + 1_048_576
  return new Promise((resolve, reject) => {
    // Normalization makes the different encodings of an accented letter the same password.
    scrypt(password.normalize('NFKC'), salt, keyBytes, { N, r, p, maxmem }, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}
