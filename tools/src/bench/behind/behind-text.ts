import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import type { BehindResult, BehindStage } from './measure-behind.ts'

/** Returns the report. Each stage is compared with the same load while the counters keep up, in the same run. */
export function behindText({ stages, backlog, callers, ...ends }: BehindResult): string {
  const row = (name: string, of: (stage: BehindStage) => string, budget: string): string[] => [
    name,
    ...stages.map(of),
    budget,
  ]
  const healthy = stages[0]!
  const whole = (value: number): string => formatCount(Math.round(value))
  const ratio = (stage: BehindStage): string => (stage.postP99Ms / healthy.postP99Ms).toFixed(2)
  return [
    `${formatCount(backlog)} records behind, ${callers} callers at a time, load generator included`,
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
        row('usage post p99 / p99 while they keep up', ratio, '< 3'),
        row('memory of ingest, MiB', (stage) => whole(stage.memoryMiB), '< 400'),
      ],
    ),
    `ingest was started again ${ends.ingestRestarts} times; customers with a wrong sum at the end: ${ends.wrongAtTheEnd}`,
  ].join('\n\n')
}
