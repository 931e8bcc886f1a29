export default () => { this is not JavaScript
