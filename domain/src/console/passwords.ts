import { hashPassword, isSameHash, newRecipe, recipeOf } from './password-hash.ts'

/** Too many passwords wait to be hashed; nobody was let in or kept out. */
export class PasswordsBusyError extends Error {
  override readonly name = 'PasswordsBusyError'
}

/** Each takes a core and tens of megabytes for a moment: what else the process does must go on. */
const hashedAtOnceMax = 2
const waitingMax = 64

/**
 * Makes and checks the hashes of passwords, a few at a time.
 *
 * All users with one email address have the same salt: a password is hashed once to compare it with those of all of them,
 * so that the time a sign-in takes does not tell how many there are. An address that nobody has costs the same.
 */
export class Passwords {
  readonly #cost: number
  #hashing = 0
  readonly #waiting: (() => void)[] = []

  constructor(cost: number) {
    this.#cost = cost
  }

  /** `others` are the hashes of users with the same address. */
  hash(password: string, others: readonly string[]): Promise<string> {
    const [recipe = newRecipe(this.#cost)] = others
      .map(recipeOf)
      .filter(({ cost }) => cost === this.#cost)
    return this.#inTurn(() => hashPassword(password, recipe))
  }

  /** Which of the hashes of users with one address are of this password. */
  async matching(password: string, hashes: readonly string[]): Promise<string[]> {
    const recipes = new Map(hashes.map((hash) => [keyOfRecipe(hash), recipeOf(hash)]))
    if (recipes.size === 0) recipes.set('', newRecipe(this.#cost))
    const made = await Promise.all(
      [...recipes.values()].map((recipe) => this.#inTurn(() => hashPassword(password, recipe))),
    )
    return hashes.filter((hash) => made.some((each) => isSameHash(each, hash)))
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#hashing >= hashedAtOnceMax) {
      if (this.#waiting.length >= waitingMax) throw new PasswordsBusyError()
      // Whoever is done hands its place on.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#hashing += 1
    }
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#hashing -= 1
      else next()
    }
  }
}

/** All but the key itself. */
function keyOfRecipe(hash: string): string {
  return hash.slice(0, hash.lastIndexOf('$'))
}
