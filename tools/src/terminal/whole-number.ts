import { InvalidArgumentError } from 'commander'

/** Reads a command-line option as a whole number within inclusive bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  }
}

/** Several of them with commas between, in rising order. */
export function wholeNumbers(min: number, max: number): (text: string) => number[] {
  const read = wholeNumber(min, max)
  return (text) =>
    text
      .split(',')
      .map(read)
      .sort((one, other) => one - other)
}
