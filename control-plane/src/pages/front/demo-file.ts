import { z } from 'zod'

/**
 * The file that `npm start` writes for the page at `/`, at the path in `TOLLGATE_DEMO_FILE`. It describes the demo provider for
 * browsers of this machine and contains no live key.
 */
export const demoFileSchema = z.object({
  sandboxKey: z.string(),
  productRef: z.string(),
  meterRef: z.string(),
  /** The demo customer of the provider. */
  customer: z.object({ name: z.string(), reference: z.string() }),
  /** Addresses of the readiness checks, by service. */
  healthUrls: z.record(z.string(), z.url({ protocol: /^http$/ })),
})

export type DemoFile = z.infer<typeof demoFileSchema>
