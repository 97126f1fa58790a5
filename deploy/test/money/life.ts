import type { Database, ProviderRows } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'

/** Thrown by a process at its death and by all its later operations. */
export class Died extends Error {
  override readonly name = 'Died'
}

export type Death = {
  /**
   * Step at which the process dies: a number counted from 1, or the first step of that name. Each effect has 2 steps, before and
   * after it. Undefined: the process survives.
   */
  readonly atStep: number | string | undefined
  /** Whether a processor call before which the process dies is still sent, and arrives after other processes have taken over. */
  readonly sendsLast: boolean
}

/**
 * One process from its start to its death. It dies between two effects that others can see, in the database, in hot state or at the
 * processor. After that, nothing it attempts has any effect, including its error handling.
 */
export class Life {
  readonly steps: string[] = []
  readonly #death: Death
  readonly #onLastWords: (send: () => Promise<unknown>) => void
  #isOver = false

  constructor(
    death: Death = { atStep: undefined, sendsLast: false },
    onLastWords: (send: () => Promise<unknown>) => void = () => undefined,
  ) {
    this.#death = death
    this.#onLastWords = onLastWords
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Counts a step. Throws if the process is dead or dies at this step. */
  step(name: string): void {
    this.requireAlive()
    this.steps.push(name)
    const { atStep } = this.#death
    if (atStep !== this.steps.length && atStep !== name) return
    this.#isOver = true
    throw new Died(`died ${name}`)
  }

  requireAlive(): void {
    if (this.#isOver) throw new Died('is dead')
  }

  async effect<Result>(name: string, act: () => Promise<Result>): Promise<Result> {
    this.step(`before ${name}`)
    const result = await act()
    this.step(`after ${name}`)
    return result
  }

  /** Calls the processor. The call may still be sent after the death of the process. */
  async call<Result>(name: string, send: () => Promise<Result>): Promise<Result> {
    try {
      this.step(`before ${name}`)
    } catch (error) {
      if (this.steps.at(-1) === `before ${name}` && this.#death.sendsLast) this.#sendLast(send)
      throw error
    }
    const result = await send()
    this.step(`after ${name}`)
    return result
  }

  /** Sends the last call, at most once. */
  #sendLast(send: () => Promise<unknown>): void {
    if (this.#hasSentLast) return
    this.#hasSentLast = true
    this.#onLastWords(send)
  }

  #hasSentLast = false
}

/** Returns the database as the process uses it. */
export function databaseOf(life: Life, database: Database): Database {
  const rowsOf = (rows: ProviderRows): ProviderRows => ({
    read: async (body) => {
      life.requireAlive()
      return rows.read(body)
    },
    write: (body) => committing(life, (inside) => rows.write((sql) => inside(() => body(sql)))),
  })
  return {
    control: statementsOf(life, database.control),
    in: (environment) => statementsOf(life, database.in(environment)),
    of: (providerId) => {
      const own = database.of(providerId)
      return {
        control: rowsOf(own.control),
        in: (environment) => rowsOf(own.in(environment)),
      }
    },
    ping: () => database.ping(),
    close: () => Promise.reject(new Error('is not ours to close')),
  }
}

/** Returns a pool in which each statement is its own transaction. The driver sends a statement when its result is awaited. */
function statementsOf(life: Life, pool: Database['control']): Database['control'] {
  return new Proxy(pool, {
    apply: (target, self, given) => {
      const made: unknown = Reflect.apply(target as never, self, given)
      if (made instanceof Promise) made.then = askedBy(life, made as Statement)
      return made
    },
    get: (target, name) => {
      if (name !== 'begin') return Reflect.get(target, name, target) as unknown
      return (body: (sql: TransactionSql) => Promise<unknown>) =>
        committing(life, (inside) => target.begin((sql) => inside(() => body(sql))))
    },
  })
}

/** Runs a transaction that commits only while the process is alive. */
async function committing<Result>(
  life: Life,
  run: (inside: <Done>(body: () => Promise<Done>) => Promise<Done>) => Promise<Result>,
): Promise<Result> {
  life.requireAlive()
  const result = await run(async (body) => {
    const done = await body()
    life.step('before commit')
    return done
  })
  life.step('after commit')
  return result
}

type TransactionSql = Parameters<Parameters<ProviderRows['write']>[0]>[0]
type Statement = Promise<unknown> & { readonly strings?: readonly string[] }

function askedBy(life: Life, statement: Statement): Statement['then'] {
  const ask = statement.then.bind(statement)
  const [verb = '', , table = ''] = statement.strings?.[0]?.trim().split(/\s+/) ?? []
  const run = (): Promise<unknown> => new Promise((resolve, reject) => void ask(resolve, reject))
  const asked = async (): Promise<unknown> => {
    life.requireAlive()
    return verb === 'select' ? run() : life.effect(`${verb} ${table}`.trim(), run)
  }
  return (onResult, onError) => asked().then(onResult, onError)
}

const processorReads = new Set<PropertyKey>([
  'retrieve',
  'retrieveCustomer',
  'retrievePaymentMethod',
  'listPaymentMethods',
])

/** Returns the processor as the process uses it. Reads are not effects. */
export function processorOf(life: Life, processor: PaymentProcessor): PaymentProcessor {
  return new Proxy(processor, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target)
      if (typeof method !== 'function') return method
      return (...given: unknown[]): unknown => {
        life.requireAlive()
        const send = (): unknown => Reflect.apply(method, target, given)
        // Methods that return no promise send nothing, and reads have no effect.
        const isWrite = /^(create|change|confirm|cancel|ensure|attach|detach|set|delete)/.test(
          String(name),
        )
        if (isWrite) return life.call(String(name), send as () => Promise<unknown>)
        return processorReads.has(name) ? whileAlive(life, send as () => Promise<unknown>) : send()
      }
    },
  })
}

async function whileAlive<Result>(life: Life, read: () => Promise<Result>): Promise<Result> {
  const result = await read()
  life.requireAlive()
  return result
}

/** Returns hot state as the process uses it. */
export function hotStateOf(life: Life, hotState: HotState): HotState {
  return new Proxy(hotState, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target)
      if (typeof method !== 'function') return method
      return (...given: unknown[]): unknown => {
        life.requireAlive()
        const act = (): unknown => Reflect.apply(method, target, given)
        const isWrite = /^(put|delete|claim|apply|reserve|release)/.test(String(name))
        return isWrite ? life.effect(String(name), act as () => Promise<unknown>) : act()
      }
    },
  })
}
