/** Measures that run only when they are named. */
export const soaks = ['soak'];
