import type { PricingOption } from '@tollgate/schemas/http/plan-terms'

/** The option that the plan's own price mirrors: the one flagged as default, else the first. */
export function mainOption(options: readonly PricingOption[]): PricingOption | undefined {
  return options.find((option) => option.default === true) ?? options[0]
}

/** Codes are taken in any case and shown in upper case. */
export function upperCaseOptions(options: readonly PricingOption[]): PricingOption[] {
  return options.map((option) => ({ ...option, currency: option.currency.toUpperCase() }))
}
