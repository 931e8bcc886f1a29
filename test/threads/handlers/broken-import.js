throw new Error('thrown while being imported');
