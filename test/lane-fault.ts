/** The lane can't run here. The message is one line for the person at the terminal. */
export class LaneFault extends Error {}
