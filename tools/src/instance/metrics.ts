/** Returns the sum of a metric over all its label sets that contain the given labels. */
export async function readMetric(
  adminUrl: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const page = await (await fetch(`${adminUrl}/metrics`)).text()
  let sum = 0
  for (const line of page.split('\n')) {
    if (!line.startsWith(`${name}{`) && !line.startsWith(`${name} `)) continue
    const matches = Object.entries(labels).every(([label, value]) =>
      line.includes(`${label}="${value}"`),
    )
    if (matches) sum += Number(line.slice(line.lastIndexOf(' ') + 1))
  }
  return sum
}
