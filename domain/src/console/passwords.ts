import { ConcurrencyLimit } from '@tollgate/platform/waiting/concurrency-limit'
import { hashPassword, isSameHash, newHashParameters, parametersOf } from './password-hash.ts'

/** Too many passwords are waiting to be hashed. The password was not checked. */
export class PasswordsBusyError extends Error {
  override readonly name = 'PasswordsBusyError'
}

/**
 * Number of passwords hashed at the same time. Each one uses a core and tens of megabytes for a moment, and the process
 * must still serve other requests.
 */
const hashedAtOnceMax = 2
const waitingMax = 64

/**
 * Creates and checks password hashes, a few at a time.
 *
 * All users with one email address have the same salt. A password is hashed once and compared with the hashes of all of
 * them, so the duration of a sign-in does not reveal how many such users exist. An unknown address takes the same time.
 */
export class Passwords {
  readonly #cost: number
  readonly #concurrency = new ConcurrencyLimit(hashedAtOnceMax)

  constructor(cost: number) {
    this.#cost = cost
  }

  /** Hashes a password. `others` are the hashes of users with the same email address. */
  hash(password: string, others: readonly string[]): Promise<string> {
    const [parameters = newHashParameters(this.#cost)] = others
      .map(parametersOf)
      .filter(({ cost }) => cost === this.#cost)
    return this.#run(() => hashPassword(password, parameters))
  }

  /** Returns which of the hashes match the password. `hashes` are those of users with one email address. */
  async matching(password: string, hashes: readonly string[]): Promise<string[]> {
    const parameterSets = new Map(hashes.map((hash) => [parametersText(hash), parametersOf(hash)]))
    if (parameterSets.size === 0) parameterSets.set('', newHashParameters(this.#cost))
    const made = await Promise.all(
      [...parameterSets.values()].map((parameters) =>
        this.#run(() => hashPassword(password, parameters)),
      ),
    )
    return hashes.filter((hash) => made.some((each) => isSameHash(each, hash)))
  }

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#concurrency.waiting >= waitingMax) throw new PasswordsBusyError()
    return await this.#concurrency.run(work)
  }
}

/** Returns the hash without its key, which identifies the parameters. */
function parametersText(hash: string): string {
  return hash.slice(0, hash.lastIndexOf('$'))
}
