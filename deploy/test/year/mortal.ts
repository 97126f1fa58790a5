import type { Database, ProviderRows } from '@tollgate/platform/database/database'

/** Thrown by a killed process. Nothing that it does later has an effect. */
export class KilledError extends Error {
  override readonly name = 'KilledError'
}

/**
 * A process that is killed after a number of effects: commits, calls of the processor, publications. Undefined: it is not killed.
 */
export class Life {
  #effectsLeft: number | undefined
  isOver = false

  constructor(effects?: number) {
    this.#effectsLeft = effects
  }

  /** Performs an effect that happens completely or not at all. The process may die directly before or after it. */
  async have<Result>(effect: () => Promise<Result>): Promise<Result> {
    this.pass()
    const result = await effect()
    this.pass()
    return result
  }

  pass(): void {
    if (this.isOver) throw new KilledError('killed')
    if (this.#effectsLeft === undefined) return
    this.#effectsLeft -= 1
    if (this.#effectsLeft < 0) {
      this.isOver = true
      throw new KilledError('killed')
    }
  }
}

/** Returns an object whose method calls are effects of the life. */
export function mortal<Target extends object>(target: Target, life: Life): Target {
  return new Proxy(target, {
    get(object, name) {
      const found: unknown = Reflect.get(object, name)
      if (typeof found !== 'function') return found
      return (...args: unknown[]): unknown => {
        const result: unknown = dead(life) ?? found.apply(object, args)
        return result instanceof Promise ? life.have(() => result as Promise<unknown>) : result
      }
    },
  })
}

/** Returns a database whose transactions are effects. Reads and single statements fail after the end of the life. */
export function mortalDatabase(database: Database, life: Life): Database {
  const rowsOf = (rows: ProviderRows): ProviderRows => ({
    read: (body) => (dead(life), rows.read(body)),
    write: (body) => life.have(() => rows.write(body)),
  })
  const poolOf = (pool: Database['control']): Database['control'] =>
    new Proxy(pool, {
      apply: (target, _this, args: Parameters<typeof pool>) => (dead(life), target(...args)),
      get: (target, name) =>
        name === 'begin'
          ? (...args: Parameters<typeof pool.begin>) =>
              life.have<unknown>(() => target.begin(...args))
          : (Reflect.get(target, name) as unknown),
    })
  return {
    control: poolOf(database.control),
    in: (environment) => poolOf(database.in(environment)),
    of: (providerId) => {
      const own = database.of(providerId)
      return {
        control: rowsOf(own.control),
        in: (environment) => rowsOf(own.in(environment)),
      }
    },
    ping: () => database.ping(),
    close: () => Promise.resolve(),
  }
}

function dead(life: Life): undefined {
  if (life.isOver) throw new KilledError('killed')
}
