/**
 * Merges pages of metrics in Prometheus's text format into one page. Prometheus wants the samples of a metric together, below one
 * description, so the samples of each page are added below the first description. Their labels must tell the pages apart.
 */
export function mergeMetrics(pages: readonly string[]): string {
  const metrics = new Map<string, { readonly head: string[]; readonly samples: string[] }>()
  for (const page of pages) {
    let metric: { readonly head: string[]; readonly samples: string[] } | undefined
    for (const line of page.split('\n')) {
      if (line === '') continue
      const described = /^# (HELP|TYPE) (\S+)/.exec(line)
      if (described === null) {
        metric?.samples.push(line)
        continue
      }
      const [, kind, name = ''] = described
      if (kind === 'HELP') {
        metric = metrics.get(name) ?? { head: [], samples: [] }
        metrics.set(name, metric)
      }
      if (metric !== undefined && metric.head.length < 2) metric.head.push(line)
    }
  }
  const blocks = [...metrics.values()].map(({ head, samples }) => [...head, ...samples].join('\n'))
  return `${blocks.join('\n\n')}\n`
}
