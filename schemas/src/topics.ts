import type { Environment } from './environment.ts'

const usageTopics: Readonly<Record<Environment, string>> = {
  sandbox: 'tollgate.usage.sandbox',
  live: 'tollgate.usage.live',
}

/** Returns the topic of the log with the meter events of one environment. */
export function usageTopic(environment: Environment): string {
  return usageTopics[environment]
}
