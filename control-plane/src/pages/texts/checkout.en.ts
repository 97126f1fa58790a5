export const checkoutEnglish = {
  selectPlan: 'Select a plan',
} as const
