import type { Environment } from './environment.ts'

/** The log topic that carries the meter events of one environment. */
export function usageTopic(environment: Environment): string {
  return `tollgate.usage.${environment}`
}
