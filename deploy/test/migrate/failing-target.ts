import type { SeededRandom } from '../../../tools/src/client/seeded-random.ts'
import type { Target } from '../../src/migrate/target/target.ts'

/** Simulates the death of the process. */
export class ProcessKilledError extends Error {
  override readonly name = 'DiedError'
}

const effects = {
  usageStore: ['insert'],
  log: ['append', 'appendAll', 'commit', 'trim'],
  journal: ['write'],
} as const

/** Returns the target of a process that dies at one of its effects, directly before or after it. */
export function failingTarget(target: Target, random: SeededRandom, effectsMax: number): Target {
  let left = random.integer(0, effectsMax)
  let isDead = false
  const act = async (effect: () => Promise<unknown>): Promise<unknown> => {
    if (isDead) throw new ProcessKilledError()
    left -= 1
    if (left > 0) return await effect()
    isDead = true
    if (random.chance(0.5)) await effect()
    throw new ProcessKilledError()
  }
  const part = <Name extends keyof typeof effects>(name: Name): Target[Name] =>
    new Proxy(target[name], {
      get(object, member) {
        const value: unknown = Reflect.get(object, member)
        if (typeof value !== 'function') return value
        const call = value.bind(object) as (...parameters: unknown[]) => Promise<unknown>
        if (!(effects[name] as readonly string[]).includes(member as string)) return call
        return (...parameters: unknown[]) => act(() => call(...parameters))
      },
    })
  return {
    ...target,
    usageStore: part('usageStore'),
    log: part('log'),
    journal: part('journal'),
  }
}
