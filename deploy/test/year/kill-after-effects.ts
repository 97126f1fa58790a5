import type { Database, ProviderRows } from '@tollgate/platform/database/database'

/** Thrown by a killed process. Nothing that it does later has an effect. */
export class KilledError extends Error {
  override readonly name = 'KilledError'
}

/**
 * A process that is killed after a number of effects: commits, calls of the processor, publications. Undefined: it is not killed.
 */
export class KillSwitch {
  #effectsLeft: number | undefined
  isKilled = false

  constructor(effects?: number) {
    this.#effectsLeft = effects
  }

  /** Performs an effect that happens completely or not at all. The process may die directly before or after it. */
  async perform<Result>(effect: () => Promise<Result>): Promise<Result> {
    this.countStep()
    const result = await effect()
    this.countStep()
    return result
  }

  countStep(): void {
    if (this.isKilled) throw new KilledError('killed')
    if (this.#effectsLeft === undefined) return
    this.#effectsLeft -= 1
    if (this.#effectsLeft < 0) {
      this.isKilled = true
      throw new KilledError('killed')
    }
  }
}

/** Returns an object whose method calls count as effects. */
export function killable<Target extends object>(target: Target, killSwitch: KillSwitch): Target {
  return new Proxy(target, {
    get(object, name) {
      const found: unknown = Reflect.get(object, name)
      if (typeof found !== 'function') return found
      return (...args: unknown[]): unknown => {
        const result: unknown = requireAlive(killSwitch) ?? found.apply(object, args)
        return result instanceof Promise
          ? killSwitch.perform(() => result as Promise<unknown>)
          : result
      }
    },
  })
}

/** Returns a database whose transactions are effects. Reads and single statements fail once the process is killed. */
export function killableDatabase(database: Database, killSwitch: KillSwitch): Database {
  const rowsOf = (rows: ProviderRows): ProviderRows => ({
    read: (body) => (requireAlive(killSwitch), rows.read(body)),
    write: (body) => killSwitch.perform(() => rows.write(body)),
  })
  const poolOf = (pool: Database['control']): Database['control'] =>
    new Proxy(pool, {
      apply: (target, _this, args: Parameters<typeof pool>) => (
        requireAlive(killSwitch),
        target(...args)
      ),
      get: (target, name) =>
        name === 'begin'
          ? (...args: Parameters<typeof pool.begin>) =>
              killSwitch.perform<unknown>(() => target.begin(...args))
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

function requireAlive(killSwitch: KillSwitch): undefined {
  if (killSwitch.isKilled) throw new KilledError('killed')
}
