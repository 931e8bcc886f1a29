module.exports = (job) => `commonjs ${job.data}`;
module.exports.other = () => 'other';
