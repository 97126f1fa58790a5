import type { PricingOption } from '@tollgate/schemas/http/plan-terms'

/** Returns the option whose price is the plan's own price: the one marked as default, otherwise the first. */
export function mainOption(options: readonly PricingOption[]): PricingOption | undefined {
  return options.find((option) => option.default === true) ?? options[0]
}

/** Returns the options with upper-case currency codes. Requests can use any case. */
export function upperCaseOptions(options: readonly PricingOption[]): PricingOption[] {
  return options.map((option) => ({ ...option, currency: option.currency.toUpperCase() }))
}
