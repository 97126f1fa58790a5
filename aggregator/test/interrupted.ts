/** An interruption at one call to a port, counted over all ports of a process. */
export type Interruption = {
  readonly atCall: number
  /**
   * The process dies before or after the effect of the call, or other processes act first and this one continues as a stale
   * process.
   */
  readonly kind: 'die-before' | 'die-after' | 'others-act'
}

export class ProcessDied extends Error {
  override readonly name = 'ProcessDied'
}

export type CallCounter = { calls: number }

/** Returns the port with the interruption at its call. Synchronous methods have no effects and are not counted. */
const synchronous = new Set<PropertyKey>(['head', 'oldest', 'partitionCount'])

export function interrupted<Port extends object>(
  port: Port,
  counter: CallCounter,
  interruption: Interruption | undefined,
  othersAct: () => Promise<void>,
): Port {
  return new Proxy(port, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target)
      if (typeof method !== 'function') return method
      return (...input: unknown[]): unknown => {
        if (synchronous.has(name)) return Reflect.apply(method, target, input)
        const isDue = ++counter.calls === interruption?.atCall
        const call = (): unknown => Reflect.apply(method, target, input) as unknown
        return isDue ? interrupt(interruption.kind, call, othersAct) : call()
      }
    },
  })
}

async function interrupt(
  kind: Interruption['kind'],
  call: () => unknown,
  othersAct: () => Promise<void>,
): Promise<unknown> {
  if (kind === 'die-before') throw new ProcessDied()
  if (kind === 'others-act') await othersAct()
  const result: unknown = await call()
  if (kind === 'die-after') throw new ProcessDied()
  return result
}
