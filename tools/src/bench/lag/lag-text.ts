import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import type { LagResult, LagStage } from './measure-lag.ts'

/** Returns the report. Each stage is compared with the same load while the counters keep up, in the same run. */
export function lagText({ stages, backlog, callers, ...ends }: LagResult): string {
  const row = (name: string, of: (stage: LagStage) => string, budget: string): string[] => [
    name,
    ...stages.map(of),
    budget,
  ]
  const healthy = stages[0]!
  const whole = (value: number): string => formatCount(Math.round(value))
  const ratio = (stage: LagStage): string => (stage.postP99Ms / healthy.postP99Ms).toFixed(2)
  return [
    `lag of ${formatCount(backlog)} records, ${callers} concurrent callers; includes the load generator`,
    formatTable(
      ['measure', ...stages.map(({ name }) => name), 'budget'],
      [
        row('correct checks/s', (stage) => whole(stage.correctPerSecond), '>= 1,000'),
        row('wrong checks', ({ wrong }) => String(wrong), '0'),
        row('refused checks', ({ refused }) => String(refused), ''),
        row('check p99 ms', (stage) => whole(stage.checkP99Ms), ''),
        row('usage posts/s', (stage) => whole(stage.postsPerSecond), ''),
        row('failed posts', ({ postsFailed }) => String(postsFailed), '0'),
        row('usage post p99 ms', (stage) => stage.postP99Ms.toFixed(1), ''),
        row('usage post p99 / p99 without lag', ratio, '< 3'),
        row('memory of ingest, MiB', (stage) => whole(stage.memoryMiB), '< 400'),
      ],
    ),
    `restarts of ingest: ${ends.ingestRestarts}; customers with a wrong sum at the end: ${ends.wrongAtTheEnd}`,
  ].join('\n\n')
}
