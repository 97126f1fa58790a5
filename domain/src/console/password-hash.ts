import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** How a password is hashed: scrypt's numbers, kept with every hash, so that they can be raised for those to come. */
export type PasswordRecipe = {
  /** log2 of N: one more doubles time and memory. 15 takes 32 MiB. */
  readonly cost: number
  readonly blockSize: number
  readonly parallelization: number
  readonly salt: Buffer
}

const saltBytes = 16
const keyBytes = 32

/** With a cost of 15 this is one of the settings that OWASP calls equally strong. */
export function newRecipe(cost: number): PasswordRecipe {
  return { cost, blockSize: 8, parallelization: 3, salt: randomBytes(saltBytes) }
}

/** `scrypt$<cost>$<block size>$<parallelization>$<salt>$<key>`, the last two in base64url. */
export async function hashPassword(password: string, recipe: PasswordRecipe): Promise<string> {
  const { cost, blockSize, parallelization, salt } = recipe
  const key = await derive(password, recipe)
  const texts = [salt, key].map((bytes) => bytes.toString('base64url'))
  return ['scrypt', cost, blockSize, parallelization, ...texts].join('$')
}

/** How a stored hash was made. */
export function recipeOf(hash: string): PasswordRecipe {
  const [scheme, cost, blockSize, parallelization, salt] = hash.split('$')
  if (scheme !== 'scrypt' || salt === undefined) throw new Error('not the hash of a password')
  return {
    cost: Number(cost),
    blockSize: Number(blockSize),
    parallelization: Number(parallelization),
    salt: Buffer.from(salt, 'base64url'),
  }
}

/** Takes the same time whatever they are. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function derive(password: string, recipe: PasswordRecipe): Promise<Buffer> {
  const { cost, blockSize: r, parallelization: p, salt } = recipe
  const N = 2 ** cost
  // What scrypt needs for these numbers, and a little for itself.
  const maxmem = 128 * r * (N + p) + 1_048_576
  return new Promise((resolve, reject) => {
    // Two ways of typing one accented letter are one password.
    scrypt(password.normalize('NFKC'), salt, keyBytes, { N, r, p, maxmem }, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}
