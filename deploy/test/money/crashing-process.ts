import type { Database, ProviderRows } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'

/** Thrown by a process at its crash and by all its later operations. */
export class ProcessCrashedError extends Error {
  override readonly name = 'ProcessCrashedError'
}

export type Crash = {
  /**
   * Step at which the process dies: a number counted from 1, or the first step of that name. Each effect has 2 steps, before and
   * after it. Undefined: the process survives.
   */
  readonly atStep: number | string | undefined
  /** Whether a processor call before which the process dies is still sent, and arrives after other processes have taken over. */
  readonly sendsPendingCall: boolean
}

/**
 * One process from its start to its crash. It dies between two effects that others can see, in the database, in hot state or at the
 * processor. After that, nothing it attempts has any effect, including its error handling.
 */
export class CrashingProcess {
  readonly steps: string[] = []
  readonly #crash: Crash
  readonly #onPendingCall: (send: () => Promise<unknown>) => void
  #hasCrashed = false

  constructor(
    crash: Crash = { atStep: undefined, sendsPendingCall: false },
    onPendingCall: (send: () => Promise<unknown>) => void = () => undefined,
  ) {
    this.#crash = crash
    this.#onPendingCall = onPendingCall
  }

  get hasCrashed(): boolean {
    return this.#hasCrashed
  }

  /** Counts a step. Throws if the process is dead or dies at this step. */
  step(name: string): void {
    this.requireRunning()
    this.steps.push(name)
    const { atStep } = this.#crash
    if (atStep !== this.steps.length && atStep !== name) return
    this.#hasCrashed = true
    throw new ProcessCrashedError(`died ${name}`)
  }

  requireRunning(): void {
    if (this.#hasCrashed) throw new ProcessCrashedError('is dead')
  }

  async effect<Result>(name: string, act: () => Promise<Result>): Promise<Result> {
    this.step(`before ${name}`)
    const result = await act()
    this.step(`after ${name}`)
    return result
  }

  /** Calls the processor. The call may still be sent after the crash of the process. */
  async call<Result>(name: string, send: () => Promise<Result>): Promise<Result> {
    try {
      this.step(`before ${name}`)
    } catch (error) {
      if (this.steps.at(-1) === `before ${name}` && this.#crash.sendsPendingCall)
        this.#sendPendingCall(send)
      throw error
    }
    const result = await send()
    this.step(`after ${name}`)
    return result
  }

  /** Sends the last call, at most once. */
  #sendPendingCall(send: () => Promise<unknown>): void {
    if (this.#hasSentPendingCall) return
    this.#hasSentPendingCall = true
    this.#onPendingCall(send)
  }

  #hasSentPendingCall = false
}

/** Returns the database as the process uses it. */
export function databaseOf(process: CrashingProcess, database: Database): Database {
  const rowsOf = (rows: ProviderRows): ProviderRows => ({
    read: async (body) => {
      process.requireRunning()
      return rows.read(body)
    },
    write: (body) => committing(process, (inside) => rows.write((sql) => inside(() => body(sql)))),
  })
  return {
    control: statementsOf(process, database.control),
    in: (environment) => statementsOf(process, database.in(environment)),
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
function statementsOf(process: CrashingProcess, pool: Database['control']): Database['control'] {
  return new Proxy(pool, {
    apply: (target, self, given) => {
      const made: unknown = Reflect.apply(target as never, self, given)
      if (made instanceof Promise) made.then = whenAwaited(process, made as Statement)
      return made
    },
    get: (target, name) => {
      if (name !== 'begin') return Reflect.get(target, name, target) as unknown
      return (body: (sql: TransactionSql) => Promise<unknown>) =>
        committing(process, (inside) => target.begin((sql) => inside(() => body(sql))))
    },
  })
}

/** Runs a transaction that commits only while the process is alive. */
async function committing<Result>(
  process: CrashingProcess,
  run: (inside: <Done>(body: () => Promise<Done>) => Promise<Done>) => Promise<Result>,
): Promise<Result> {
  process.requireRunning()
  const result = await run(async (body) => {
    const done = await body()
    process.step('before commit')
    return done
  })
  process.step('after commit')
  return result
}

type TransactionSql = Parameters<Parameters<ProviderRows['write']>[0]>[0]
type Statement = Promise<unknown> & { readonly strings?: readonly string[] }

function whenAwaited(process: CrashingProcess, statement: Statement): Statement['then'] {
  const ask = statement.then.bind(statement)
  const [verb = '', , table = ''] = statement.strings?.[0]?.trim().split(/\s+/) ?? []
  const run = (): Promise<unknown> => new Promise((resolve, reject) => void ask(resolve, reject))
  const asked = async (): Promise<unknown> => {
    process.requireRunning()
    return verb === 'select' ? run() : process.effect(`${verb} ${table}`.trim(), run)
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
export function processorOf(
  process: CrashingProcess,
  processor: PaymentProcessor,
): PaymentProcessor {
  return new Proxy(processor, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target)
      if (typeof method !== 'function') return method
      return (...given: unknown[]): unknown => {
        process.requireRunning()
        const send = (): unknown => Reflect.apply(method, target, given)
        // Methods that return no promise send nothing, and reads have no effect.
        const isWrite = /^(create|change|confirm|cancel|ensure|attach|detach|set|delete)/.test(
          String(name),
        )
        if (isWrite) return process.call(String(name), send as () => Promise<unknown>)
        return processorReads.has(name)
          ? whileRunning(process, send as () => Promise<unknown>)
          : send()
      }
    },
  })
}

async function whileRunning<Result>(
  process: CrashingProcess,
  read: () => Promise<Result>,
): Promise<Result> {
  const result = await read()
  process.requireRunning()
  return result
}

/** Returns hot state as the process uses it. */
export function hotStateOf(process: CrashingProcess, hotState: HotState): HotState {
  return new Proxy(hotState, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target)
      if (typeof method !== 'function') return method
      return (...given: unknown[]): unknown => {
        process.requireRunning()
        const act = (): unknown => Reflect.apply(method, target, given)
        const isWrite = /^(put|delete|claim|apply|reserve|release)/.test(String(name))
        return isWrite ? process.effect(String(name), act as () => Promise<unknown>) : act()
      }
    },
  })
}
